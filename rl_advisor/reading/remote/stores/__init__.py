"""Where runs may lie besides on disk: each module knows the addresses of one kind of store and brings a copy through its own client."""
