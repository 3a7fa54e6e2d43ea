"""Arithmetic expressions over named whole numbers, for configurations. They cannot call functions or access objects."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Mapping

from flitlab._core import ConfigError

LONGEST = 1000  # characters
LARGEST = 2**63  # bound of the magnitude of results

Names = Mapping[str, int]


def _power(x: int, y: int) -> int:
    if not 0 <= y < 64:
        raise ValueError("an exponent must be 0 to 63")
    return x**y


def _left(x: int, y: int) -> int:
    if not 0 <= y < 64:
        raise ValueError("a shift must be 0 to 63")
    return x << y


_BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
           ast.Mod: operator.mod, ast.Pow: _power, ast.LShift: _left, ast.RShift: operator.rshift,
           ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor}
_UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.invert}
_COMPARE = {ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
            ast.Gt: operator.gt, ast.GtE: operator.ge}


class Expression:
    """An expression such as ``Expression("(rank + 1) % size", {"rank", "size"})``. A call with the values of the names
    returns an int.

    Operators: + - * // % ** << >> & | ^ ~, comparisons, and, or, not, ``a if c else b``. The constructor raises
    ConfigError for any other expression; a call raises ConfigError if there is no result (division by zero, more than
    64 bits).
    """

    def __init__(self, text: str, names: Collection[str]):
        self.text = text
        self.names = names
        if len(text) > LONGEST:
            raise ConfigError(f'"{text[:40]}..." is longer than {LONGEST} characters.')
        try:
            self._value = self._compiled(ast.parse(text.strip(), mode="eval").body)
        except ConfigError:  # ConfigError is a ValueError
            raise
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ConfigError(f'"{text}" is not an expression.') from None

    def __call__(self, names: Names) -> int:
        try:
            return int(self._value(names))
        except (ArithmeticError, ValueError, RecursionError) as error:
            given = ", ".join(f"{k} = {v}" for k, v in names.items())
            raise ConfigError(f'"{self.text}" has no value for {given}: {error}.') from None

    def _compiled(self, node: ast.expr) -> Callable[[Names], int]:
        if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int)) and abs(node.value) < LARGEST:
            return lambda names: node.value
        if isinstance(node, ast.Name):
            if node.id not in self.names:
                raise ConfigError(f'"{self.text}": the name {node.id} is unknown; names are '
                                  f'{", ".join(sorted(self.names))}.')
            return lambda names: names[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            op, left, right = _BINARY[type(node.op)], self._compiled(node.left), self._compiled(node.right)
            return lambda names: _bounded(op(left(names), right(names)))
        if isinstance(node, ast.UnaryOp):
            op, operand = _UNARY[type(node.op)], self._compiled(node.operand)
            return lambda names: op(operand(names))
        if isinstance(node, ast.BoolOp):
            parts, every = [self._compiled(v) for v in node.values], isinstance(node.op, ast.And)

            def combine(names: Names) -> int:
                for part in parts:
                    value = part(names)
                    if bool(value) != every:
                        break
                return value

            return combine
        if isinstance(node, ast.Compare) and all(type(op) in _COMPARE for op in node.ops):
            first, others = self._compiled(node.left), [self._compiled(v) for v in node.comparators]
            ops = [_COMPARE[type(op)] for op in node.ops]

            def compare(names: Names) -> bool:
                left = first(names)
                for op, part in zip(ops, others, strict=True):
                    right = part(names)
                    if not op(left, right):
                        return False
                    left = right
                return True

            return compare
        if isinstance(node, ast.IfExp):
            test, yes, no = (self._compiled(n) for n in (node.test, node.body, node.orelse))
            return lambda names: yes(names) if test(names) else no(names)
        part = ast.unparse(node)
        hint = " Use // to divide whole numbers." if isinstance(getattr(node, "op", None), ast.Div) else ""
        raise ConfigError(f'"{self.text}": {part} is not allowed in an expression; allowed are whole numbers, names, '
                          f"+ - * // % ** << >> & | ^ ~, comparisons, and, or, not, and a if c else b.{hint}")


def _bounded(x: int) -> int:
    if abs(x) >= LARGEST:
        raise ValueError("a result exceeds 64 bits")
    return x
