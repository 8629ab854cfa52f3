"""What is shipped with the kernel and is no part of it: nothing in this folder has to be believed."""
