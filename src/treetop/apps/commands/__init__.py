"""The commands of the shell, a file each; `treetop.apps.cli` lists them."""
