"""The page: an arc is drawn, the order follows. :func:`fabula.web.app.create_app` makes the server."""
