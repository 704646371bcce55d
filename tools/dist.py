#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pack the tree's files into weft-VERSION.tar.gz, the same bytes for the same files.

    tools/dist.py OUT VERSION

Packed are the files that git knows, as they are in the working tree, below weft-VERSION/,
and a file COMMIT: the commit, followed by "-dirty" if a file differs from it. Every time in
the archive is the commit's, owners and modes do not depend on who packs.
Exit status 2: this tree has no commit, or a file cannot be packed.
"""
import gzip
import io
import os
import subprocess
import sys
import tarfile


def git(*args):
    """What a git command prints, as bytes; None if it fails."""
    done = subprocess.run(["git", *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout if done.returncode == 0 else None


def tracked_files():
    """Names of the files that git knows and that are there, sorted by their bytes."""
    names = set(git("ls-files", "-z").split(b"\0")) - {b""}
    return [os.fsdecode(n) for n in sorted(names) if os.path.lexists(n)]


def add(archive, name, path, data, commit_time):
    """Append the file at path, or data if it is not None, as name, with that time of modification."""
    info = tarfile.TarInfo(name)
    info.mtime = commit_time
    info.mode = 0o644
    if data is None and os.path.islink(path):
        info.type, info.linkname, info.mode = tarfile.SYMTYPE, os.readlink(path), 0o777
        archive.addfile(info)
        return
    if data is None:
        if os.access(path, os.X_OK):
            info.mode = 0o755
        with open(path, "rb") as f:
            data = f.read()
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def main():
    out, version = sys.argv[1:3]
    top = git("rev-parse", "--show-toplevel")
    if not top or not os.path.samefile(os.fsdecode(top.rstrip(b"\n")), "."):
        print("dist.py: %s is not a git work tree; the commit and the list of files come from git" % os.getcwd(), file=sys.stderr)
        return 2
    commit = git("describe", "--always", "--dirty", "--abbrev=12", "--exclude=*").strip() + b"\n"
    commit_time = int(git("log", "-1", "--format=%ct"))
    folder = "weft-%s" % version
    partial = "%s.%d" % (out, os.getpid())
    try:
        with open(partial, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=commit_time) as packed, \
                tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
            add(archive, folder + "/COMMIT", "", commit, commit_time)
            for name in tracked_files():
                add(archive, "%s/%s" % (folder, name), name, None, commit_time)
        os.replace(partial, out)
    except OSError as e:
        print("dist.py: %s" % e, file=sys.stderr)
        if os.path.exists(partial):
            os.unlink(partial)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
