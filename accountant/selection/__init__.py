"""The very numbers (q, w) that a sampler uses: rounded so that the guarantee holds for them, not only for the map q that they come from."""
