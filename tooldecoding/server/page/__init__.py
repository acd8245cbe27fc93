"""The page at ``/``: try a request in the browser, and see its tokens, orders and votes."""
