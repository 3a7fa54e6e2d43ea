def pytest_collection_modifyitems(items):
    """What takes longest comes first, so that no worker is left with it at the end."""
    items.sort(key=lambda item: not any(name in item.nodeid for name in ("notebooks", "campaign", "compilers")))
