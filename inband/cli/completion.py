"""`box completion`: the shell's completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Examples:
      box completion bash > ~/.local/share/bash-completion/completions/box
      box completion fish > ~/.config/fish/completions/box.fish
    """
    from inband.cli import box

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(kind(box, {}, "box", "_BOX_COMPLETE").source())
