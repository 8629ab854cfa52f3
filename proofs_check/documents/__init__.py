"""The registry of documents: what is known of each format that the project writes. The entries stand in the rooms that write them."""
