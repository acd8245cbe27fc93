"""Call formats as data, one file a shape, and the reader of all; ``known_formats`` lists them."""
