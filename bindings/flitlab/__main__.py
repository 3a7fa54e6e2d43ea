import sys

from flitlab.cli import main

sys.exit(main())
