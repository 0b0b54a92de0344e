import { deepEqual, equal, rejects } from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { realClock } from "../../host/real-clock.ts";
import { nodeToAdd } from "./change-node.ts";
import {
  readNodeProgress,
  writeNodeProgress,
  numberedName,
  segmentFile,
  whileLocked,
  readObservedNode,
  readWantedNodes,
  removeNodeFiles,
  writeObservedNode,
  writeWantedNode,
} from "./node-files.ts";
import { upFlags } from "../up-flags.ts";

test("nodes that are added at once get different names and indexes", async () => {
  const nodesDirectory = await mkdtemp(join(tmpdir(), "k8ts-nodes-"));
  after(() => rm(nodesDirectory, { recursive: true }));
  const home = { nodesDirectory };
  const add = (name?: string) =>
    whileLocked(home, realClock, async () => writeWantedNode(home, nodeToAdd(await readWantedNodes(home), name, "vm")));

  // In any order: a name of the form that others get would be refused if it comes late.
  await Promise.all([add(), add("edge"), add(), add()]);

  const nodes = await readWantedNodes(home);
  deepEqual(
    nodes.map(({ index }) => index),
    [2, 3, 4, 5],
  );
  equal(new Set(nodes.map(({ name }) => name)).size, 4);
  await add("vm-7");
  await add();
  deepEqual(
    (await readWantedNodes(home)).slice(4).map(({ name, index }) => `${name} ${index}`),
    ["vm-7 6", "vm-8 8"],
  );
  await rejects(add("edge"), /Cannot add node edge: the cluster has a node of this name/);
  await rejects(add("vm"), /Cannot add node vm: the cluster has a node of this name/);
});

test("a node may have the name of any file in the directory of nodes", async () => {
  const nodesDirectory = await mkdtemp(join(tmpdir(), "k8ts-nodes-"));
  after(() => rm(nodesDirectory, { recursive: true }));
  const home = { nodesDirectory };
  await writeFile(segmentFile(home), "198.18.0.0/24\n");
  const names = ["segment", "changed", "lock", "holder", "token"];
  for (const [index, name] of names.entries())
    await whileLocked(home, realClock, () => writeWantedNode(home, { name, index: index + 2, wanted: "running", generation: 0 }));
  deepEqual(
    (await readWantedNodes(home)).map(({ name }) => name),
    names,
  );
  // Others have names that no node can have.
  const files = (await readdir(nodesDirectory)).filter((name) => !names.includes(name));
  deepEqual(
    files.filter((name) => upFlags["node-name"].expects(name) === undefined),
    [],
  );
});

test("numbered names stay within the length of a node's name", () => {
  equal(numberedName("vm", 2), "vm-2");
  equal(numberedName(`${"a".repeat(60)}.bc`, 12), `${"a".repeat(60)}-12`);
  equal(upFlags["node-name"].expects(numberedName("a".repeat(63), 254)), undefined);
  equal(typeof upFlags["node-name"].expects("a".repeat(64)), "string");
});

test("wanted and observed nodes are kept in files, ordered by index; corrupt ones are skipped", async () => {
  const nodesDirectory = await mkdtemp(join(tmpdir(), "k8ts-nodes-"));
  after(() => rm(nodesDirectory, { recursive: true }));
  const home = { nodesDirectory };
  const three = { name: "b", index: 3, wanted: "paused", generation: 4 } as const;
  const two = { name: "z", index: 2, wanted: "running", generation: 0 } as const;

  deepEqual(await readWantedNodes({ nodesDirectory: join(nodesDirectory, "none") }), []);
  for (const node of [three, two]) await writeWantedNode(home, node);
  await mkdir(join(nodesDirectory, "corrupt"));
  await writeFile(join(nodesDirectory, "corrupt", "node.json"), "{");
  deepEqual(await readWantedNodes(home), [two, three]);

  equal(await readObservedNode(home, "b"), undefined);
  await writeObservedNode(home, "b", { generation: 4, state: "failed", error: "no space left" });
  deepEqual(await readObservedNode(home, "b"), { generation: 4, state: "failed", error: "no space left" });

  equal(await readNodeProgress(home, "b"), undefined);
  await writeNodeProgress(home, "b", { generation: 4, line: "  verified cluster  86 ms" });
  deepEqual(await readNodeProgress(home, "b"), { generation: 4, line: "  verified cluster  86 ms" });

  await removeNodeFiles(home, "b");
  deepEqual(await readWantedNodes(home), [two]);
});
