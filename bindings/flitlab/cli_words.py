"""An argument parser that suggests corrections for unknown options and commands."""

from __future__ import annotations

import argparse

from flitlab.arguments import did_you_mean, nearest


class Parser(argparse.ArgumentParser):
    """If an unknown option is the name of a parameter, the message shows how to set it and omits other errors."""

    words: list[str] = []  # the arguments of the command line

    def error(self, message: str):
        from flitlab.vocabulary import about_key

        known = {option for parser in _parsers(self) for option in parser._option_string_actions}
        commands = [name for parser in _parsers(self) for name in parser.commands()]
        for word, following in zip(self.words, [*self.words, "--"][1:], strict=True):
            option, equals, value = word.partition("=")
            if not option.startswith("--") or option in known:
                continue
            value = value if equals else "VALUE" if following.startswith("--") else following
            name = option.lstrip("-").replace("-", "_")
            if called := _parameter_called(name):
                path, more = called
                how = "--over" if self.words[0] == "sweep" and any(c in value for c in ",:") else "--set"
                message = (f"{option} is not an option: {path} is a parameter{more}, so write "
                           f"{how} {path}={value}")
            elif any(longer.startswith(option) for longer in known):
                continue  # argparse accepts this one as an abbreviated option
            elif about := about_key(name):
                message = f"{option} is not an option. {about[0].upper()}{about[1:]}"
            elif close := _close_parameter(name):
                message = f"{option} is not an option. Did you mean the parameter {close}, as in --set {close}={value}?"
            break
        for option, setting, value in zip(self.words, self.words[1:], self.words[2:], strict=False):
            if option == "--set" and "=" not in setting and message.startswith("unrecognized"):
                message += f". Did you mean --set {setting}={value}?"
        if self.words[:1] in (["help"], ["version"]):
            message = f"{self.words[0]} is not a command. Did you mean --{self.words[0]}?"
        elif "invalid choice" in message and self.words and self.words[0] not in commands:
            message += did_you_mean(self.words[0], commands)
        super().error(message)

    def commands(self) -> list[str]:
        return [name for action in self._actions if isinstance(action, argparse._SubParsersAction)
                for name in action.choices]


def _parsers(parser: argparse.ArgumentParser):
    """Yields a parser and the parsers of its commands."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


def _close_parameter(word: str) -> str | None:
    """Returns the dotted path that a word resembles, in full or in its last part; None if no path is similar."""
    from flitlab.experiment import parameter_paths

    return nearest(word, sorted(parameter_paths())) or None


def _parameter_called(word: str) -> tuple[str, str] | None:
    """Returns the dotted path that a word means, and a note on how the path's meaning differs. The path equals the
    word, ends in it, or is flitlab's equivalent of another simulator's name. Returns None if no path or several paths
    fit."""
    from flitlab.experiment import parameter_paths
    from flitlab.vocabulary import key_of

    paths = [path for path in parameter_paths() if path == word or path.rpartition(".")[2] == word]
    return (paths[0], "") if len(paths) == 1 else key_of(word)
