#!/bin/sh
# Makes .venv in this checkout and installs into it what requirements.lock names, then the packages themselves, editable.
# Nothing outside the checkout is touched. The last thing written is a mark of what was installed from what; while it
# matches there is nothing to do, and an interrupted set-up, having no mark, is simply done again.
# PYTHON names the interpreter; without it the first suitable one on the PATH is taken.
set -eu
cd "$(dirname "$0")/.."

stop() {
    printf '%s\n' "$*" >&2
    exit 1
}

# Prints "3.12" for an interpreter of that version, nothing for what is none.
version_of() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true
}

python='' version='' seen=''
consider() {
    found=$(version_of "$1")
    case $found in
    3.11 | 3.12 | 3.13) python=$1 version=$found ;;
    '') ;;
    *) seen="$seen${seen:+, }$1 is Python $found" ;;
    esac
}

if [ -n "${PYTHON:-}" ]; then
    consider "$PYTHON"
    [ -n "$python$seen" ] || stop "PYTHON=$PYTHON does not run: name a Python 3.11, 3.12 or 3.13."
else
    for candidate in python3 python3.13 python3.12 python3.11 python; do
        [ -n "$python" ] || consider "$candidate"
    done
    [ -n "$python$seen" ] || stop "There is no python3 here: install Python 3.11, 3.12 or 3.13 and run this again."
fi
[ -n "$python" ] || stop "Erpilot needs Python 3.11, 3.12 or 3.13, but $seen: install one and run this again, or name it as in: make demo PYTHON=/path/to/python3.12"

case $(uname -s) in
MINGW* | MSYS* | CYGWIN*) installed=.venv/Scripts/python ;;
*) installed=.venv/bin/python ;;
esac
mark=.venv/set-up-from
state="$(pwd) $version $(cat requirements.lock packages/*/pyproject.toml | cksum)"
if [ -f "$mark" ] && [ "$(cat "$mark")" = "$state" ] && "$installed" -c '' 2>/dev/null; then
    exit 0
fi

"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    stop "Python $version ($python) has no venv or ensurepip module: install it (Debian and Ubuntu: apt-get install python3-venv) and run this again."

# Console scripts hold absolute paths: a moved checkout or another Python needs a new environment, not an updated one.
here="$(pwd) $version"
case $(cat "$mark" 2>/dev/null || true) in
"$here "*)
    echo "Updating .venv to the current requirements.lock ..."
    rm -f "$mark"
    ;;
*)
    echo "Creating .venv with Python $version ($python) ..."
    "$python" -m venv --clear .venv || stop "The virtual environment could not be created in $(pwd)/.venv."
    ;;
esac

# Settings of a person's own pip that would break an install into a virtual environment.
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_USER=0 PIP_ROOT_USER_ACTION=ignore
unset PIP_TARGET PIP_PREFIX PIP_REQUIRE_HASHES
echo "Installing $(grep -c '==' requirements.lock) packages from requirements.lock, checked by hash (a minute on a slow line) ..."
"$installed" -m pip install -qq --require-hashes -r requirements.lock ||
    stop "Installing failed: pip says above why. Nothing outside .venv was changed; run this again to go on."

set --
for project in packages/*/pyproject.toml; do
    set -- "$@" -e "${project%/pyproject.toml}"
done
echo "Installing the packages of this checkout, editable ..."
"$installed" -m pip install -qq --no-deps --no-build-isolation "$@" ||
    stop "Installing the packages of this checkout failed: pip says above why."
printf '%s' "$state" >"$mark"
echo "Ready: .venv"
