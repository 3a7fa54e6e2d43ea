def pytest_collection_modifyitems(items):
    """What takes longest comes first, so that no worker is left with it at the end."""
    items.sort(key=lambda item: "notebooks" not in item.nodeid and "campaign" not in item.nodeid)
