"""The scope's form of an item's whole state."""


def short(node):
    """Returns an inspected item as a page has it: whole numbers that JavaScript would round become text."""
    def plain(value):
        return [plain(v) for v in value] if isinstance(value, list) else (
            str(value) if isinstance(value, int) and value > 2**53 else value)

    values = [{"name": n, "value": plain(v), "unit": unit, "help": text} for n, v, unit, text in node["values"]]
    return {"kind": node["kind"], "name": node["name"], "values": values, "parts": [short(p) for p in node["parts"]]}
