// options: --cwd /tmp --env PWD=/tmp
// stdout: "ok\n"
// Files and directories, relative and absolute; seeking; attributes.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func expect(ok bool, what string) {
	if !ok {
		panic(what)
	}
}

func main() {
	must(os.MkdirAll("a/b/c", 0o755))
	for i := 0; i < 200; i++ {
		name := filepath.Join("a/b", fmt.Sprint("f", i))
		must(os.WriteFile(name, []byte(name), 0o644))
	}
	text, err := os.ReadFile("/tmp/a/b/f7")
	must(err)
	expect(string(text) == "a/b/f7", string(text))
	found := 0
	must(filepath.WalkDir("/tmp/a", func(path string, d fs.DirEntry, err error) error {
		found++
		return err
	}))
	expect(found == 203, fmt.Sprint(found))

	f, err := os.OpenFile("a/seek", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	must(err)
	_, err = f.WriteString("0123456789")
	must(err)
	_, err = f.Seek(-3, io.SeekEnd)
	must(err)
	rest, err := io.ReadAll(f)
	must(err)
	expect(string(rest) == "789", string(rest))
	must(f.Truncate(4))
	info, err := f.Stat()
	must(err)
	expect(info.Size() == 4 && info.Mode().IsRegular(), "size")
	must(f.Close())

	when := time.Unix(1000000, 5)
	must(os.Chtimes("a/seek", when, when))
	info, err = os.Stat("a/seek")
	must(err)
	expect(info.ModTime().Equal(when), info.ModTime().String())
	must(os.Rename("a/seek", "a/moved"))
	must(os.Symlink("moved", "a/link"))
	target, err := os.Readlink("a/link")
	must(err)
	expect(target == "moved", target)
	_, err = os.Stat("a/seek")
	expect(errors.Is(err, fs.ErrNotExist), "still there")
	must(os.RemoveAll("a"))
	_, err = os.Stat("/tmp/a")
	expect(errors.Is(err, fs.ErrNotExist), "still there")
	fmt.Println("ok")
}
