import signal

# A shell that starts pytest in the background makes it ignore interrupts, as do the processes that tests start and
# interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Runs the slowest tests first, so that no worker is left with one at the end."""
    items.sort(key=lambda item: not any(name in item.nodeid for name in ("notebooks", "campaign", "compilers")))
