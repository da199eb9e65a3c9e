"""The archive of a release (`make dist`), on a machine without npm."""
import os
import re
import shutil
import subprocess
import tempfile

import client
import erlt


def make(t, folder, *words, **more):
    p = subprocess.run(["make", "-s", *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       timeout=erlt.PATIENCE * 5, check=False, **more)
    t.equal(p.returncode, 0, p.stdout.decode(errors="replace"))


def without(folder, *hidden):
    """A folder of links to all programs but these."""
    os.mkdir(folder)
    for path in os.environ["PATH"].split(os.pathsep):
        for name in os.listdir(path) if os.path.isdir(path) else []:
            link = os.path.join(folder, name)
            if name not in hidden and not os.path.lexists(link):
                os.symlink(os.path.join(path, name), link)
    return folder


def test_the_page_comes_with_it(t, s):
    """What is unpacked builds a server that has the page, byte by byte, where neither npm nor node is; what was compiled here is not again."""
    if os.environ.get("SANITIZE") or not shutil.which("npm") or not os.path.isdir(os.path.join(erlt.ROOT, "ui/node_modules")):
        raise erlt.Skipped("it takes npm, and a build without sanitizers, to pack an archive")
    with tempfile.TemporaryDirectory(prefix="et-dist-") as where:
        make(t, erlt.ROOT, "dist-source")
        archive, = (n for n in os.listdir(os.path.join(erlt.ROOT, "build")) if re.fullmatch(r"erltrace-[0-9.]+\.tar\.gz", n))
        subprocess.run(["tar", "-xzf", os.path.join(erlt.ROOT, "build", archive), "-C", where], check=True)
        tree = os.path.join(where, archive[:-7])
        for part in ("build/tool", "build/lib"):
            shutil.copytree(os.path.join(erlt.ROOT, part), os.path.join(tree, part), symlinks=True)
        os.remove(os.path.join(tree, "build/tool/c_src/web/assets.o"))
        make(t, tree, "bin/erltrace-serve", env=dict(os.environ, PATH=without(where + "/bin", "npm", "node", "npx")))
        t.equal(os.path.exists(tree + "/ui/node_modules"), False, "nothing was fetched")
        served = client.Server(["sh", "-c", 'shift; exec "$0" "$@"', tree + "/bin/erltrace-serve"], ["--listen", "127.0.0.1:0", "--agent-dir", os.path.join(erlt.ROOT, "priv/agent")])
        try:
            html = served.get("/").body.decode()
            t.equal(html, s.get("/").body.decode(), "the page")
            files = re.findall(r'(?:src|href)="(/assets/[^"]+)"', html)
            t.true(len(files) >= 3, f"with its files: {files}")
            for f in files:
                with open(os.path.join(erlt.ROOT, "ui/dist" + f), "rb") as x:
                    t.equal(served.get(f).body, x.read(), f)
        finally:
            served.stop()
