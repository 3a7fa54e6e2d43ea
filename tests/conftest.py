import signal

# A shell that starts this in the background has interrupts ignored, also in processes that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """What takes longest comes first, so that no worker is left with it at the end."""
    items.sort(key=lambda item: not any(name in item.nodeid for name in ("notebooks", "campaign", "compilers")))
