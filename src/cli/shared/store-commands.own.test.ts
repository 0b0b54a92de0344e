/** The `k8ts store …` commands as a user runs them: words in, lines out, on real files. */
import { deepEqual, equal, match } from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { realClock } from "../../host/real-clock.ts";
import { openEmbeddedStore } from "../../store/embedded/embedded-store.ts";
import { bytesValue } from "../../store/value.ts";
import { all } from "../commands/all.ts";
import { dispatch } from "../framework/dispatch.ts";

interface Run {
  readonly code: number;
  readonly out: string;
  readonly notes: string;
}

async function k8ts(...words: string[]): Promise<Run> {
  const out: string[] = [];
  const notes: string[] = [];
  const streams = {
    out: (line: string) => void out.push(line),
    note: (line: string) => void notes.push(line),
    environment: { HOME: "/nonexistent" },
  };
  const io = { ...streams, clock: realClock, log: silentLogger, signal: new AbortController().signal };
  const code = await dispatch(words, all, { ...streams, version: "test", openIo: async () => io });
  return { code, out: out.join("\n"), notes: notes.join("\n") };
}

/** A directory with a store in `data` of twenty pods, each written twice. */
async function withStore(body: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-store-commands-"));
  try {
    const store = await openEmbeddedStore({ directory: join(directory, "data"), clock: realClock, log: silentLogger });
    for (let index = 0; index < 40; index++) {
      await store.commit([{ type: "put", key: `/pods/p${index % 20}`, value: bytesValue(Buffer.from(`secret-${index}`)) }]);
    }
    await store.close();
    await body(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

test("`k8ts store status` prints revisions, keys and sizes", () =>
  withStore(async (directory) => {
    const { code, out } = await k8ts("store", "status", "--data-dir", join(directory, "data"));
    equal(code, 0);
    match(out, /^driver: embedded\nrevision: 41\ncompacted revision: 1\nkeys: 20\nsize: \d+ bytes, \d+ in use$/);
  }));

test("a snapshot restores into an empty directory with the same hash, and its file is for its owner alone", () =>
  withStore(async (directory) => {
    const [data, copy, file] = ["data", "copy", "backup.k8ts"].map((name) => join(directory, name)) as [string, string, string];
    const taken = await k8ts("store", "snapshot", file, "--data-dir", data);
    match(taken.out, new RegExp(`^Wrote 20 keys at revision 41 to ${file}, hash [0-9a-f]{64}$`));
    equal((await stat(file)).mode & 0o777, 0o600);

    equal((await k8ts("store", "restore", file, "--data-dir", copy)).out, `Restored revision 41 from ${file}`);

    const hashes = await Promise.all([data, copy].map(async (each) => (await k8ts("store", "hash", "--data-dir", each)).out));
    match(hashes[0] ?? "", /^[0-9a-f]{64} revision 41, 20 keys$/);
    equal(hashes[0], hashes[1]);
    deepEqual((await readdir(directory)).sort(), ["backup.k8ts", "copy", "data"], "no partial file is left");
  }));

test("a snapshot that cannot be written says why, and what to name instead", () =>
  withStore(async (directory) => {
    const snapshot = (file: string) => k8ts("store", "snapshot", file, "--data-dir", join(directory, "data"));
    match((await snapshot(directory)).notes, /Cannot write .*: it is a directory, not a file; choose another path with FILE/);
    match(
      (await snapshot(join(directory, "missing/file"))).notes,
      /Cannot write .*: it cannot be created there; choose another path with FILE/,
    );
    deepEqual(await readdir(directory), ["data"]);
  }));

test("the hash of an old revision is that of then, until it is compacted", () =>
  withStore(async (directory) => {
    const data = join(directory, "data");
    match((await k8ts("store", "hash", "--data-dir", data, "--revision", "6")).out, / revision 6, 5 keys$/);
    match(
      (await k8ts("store", "compact", "--data-dir", data, "--revision", "30")).out,
      /^Compacted to revision 30; \d+ of \d+ bytes in use$/,
    );
    const refused = await k8ts("store", "hash", "--data-dir", data, "--revision", "6");
    deepEqual(
      [refused.code, refused.notes],
      [1, "Error: Cannot read at revision 6: history before revision 30 has been compacted; list again at the newest revision"],
    );
  }));

test("a damaged snapshot is refused, a store with content is not restored over", () =>
  withStore(async (directory) => {
    const [data, file] = [join(directory, "data"), join(directory, "backup.k8ts")];
    await k8ts("store", "snapshot", file, "--data-dir", data);
    match((await k8ts("store", "restore", file, "--data-dir", data)).notes, /^Error: Cannot restore: the store has been written to/);
    const bytes = await readFile(file);
    const inValue = bytes.indexOf("secret-");
    bytes[inValue] = (bytes[inValue] ?? 0) ^ 1;
    await writeFile(file, bytes);
    const refused = await k8ts("store", "restore", file, "--data-dir", join(directory, "copy"));
    deepEqual([refused.code, refused.out], [1, ""]);
    match(refused.notes, /^Error: Cannot read the snapshot: /);
    match((await k8ts("store", "status", "--data-dir", join(directory, "copy"))).out, /\nkeys: 0\n/);
  }));

test("a directory without a store is an error, and none is made by looking", async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-store-commands-"));
  for (const command of ["status", "hash", "compact"]) {
    const { code, notes } = await k8ts("store", command, "--data-dir", directory);
    deepEqual(
      [code, notes],
      [1, `Error: Cannot find a store in ${directory}: choose the cluster with --name, or its directory with --data-dir`],
    );
  }
  deepEqual(await readdir(directory), []);
  await rm(directory, { recursive: true });
});

test("a data directory of a newer version is refused by all, and left as it is", () =>
  withStore(async (directory) => {
    const data = join(directory, "data");
    const backup = join(directory, "backup.k8ts");
    equal((await k8ts("store", "snapshot", backup, "--data-dir", data)).code, 0);
    await writeFile(join(data, "k8ts.json"), '{"format":9,"name":"default"}');
    const before = await readFile(join(data, "store.mdb"));
    for (const words of [["status"], ["hash"], ["compact"], ["snapshot", join(directory, "second.k8ts")], ["restore", backup]]) {
      const { code, notes } = await k8ts("store", ...words, "--data-dir", data);
      equal(code, 1, words[0]);
      match(
        notes,
        /^Error: Cannot use .*\/data: it was written by a newer version of k8ts \(format 9, this version supports up to \d+\); use that/,
      );
    }
    deepEqual(await readFile(join(data, "store.mdb")), before);
    equal((await readdir(directory)).includes("second.k8ts"), false);

    await rm(join(data, "store.mdb"));
    match((await k8ts("store", "status", "--data-dir", data)).notes, /it was written by a newer version of k8ts/);
  }));

test("a store that is in use is not touched, and its user is named", () =>
  withStore(async (directory) => {
    const data = join(directory, "data");
    const store = await openEmbeddedStore({ directory: data, clock: realClock, log: silentLogger });
    const { code, notes } = await k8ts("store", "status", "--data-dir", data);
    equal(code, 1);
    match(notes, new RegExp(`^Error: Cannot open ${data}: it is in use by process ${process.pid} `));
    await store.close();
  }));

test("words that make no sense together are refused before anything is opened, all at once", async () => {
  const { code, notes } = await k8ts("store", "hash", "--revision", "0", "--store", "memory", "--bogus");
  equal(code, 2);
  for (const part of ["--revision", "--store", "--bogus"]) match(notes, new RegExp(part));
});
