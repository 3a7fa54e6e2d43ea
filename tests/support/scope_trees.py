"""What the scope has of all state of an item."""


def short(node):
    """An inspected item as a page has it: whole numbers that JavaScript would round are text."""
    def plain(value):
        return [plain(v) for v in value] if isinstance(value, list) else (
            str(value) if isinstance(value, int) and value > 2**53 else value)

    return [node["kind"], node["name"], [[n, plain(v), unit, said] for n, v, unit, said in node["values"]],
            [short(p) for p in node["parts"]]]
