import { deepEqual, equal } from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readObservedNode, readWantedNodes, removeNodeFiles, writeObservedNode, writeWantedNode } from "./node-files.ts";

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

  await removeNodeFiles(home, "b");
  deepEqual(await readWantedNodes(home), [two]);
});
