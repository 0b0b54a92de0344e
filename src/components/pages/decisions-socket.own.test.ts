import { deepEqual } from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fetchDecisions, serveDecisions } from "./decisions-socket.ts";

test("decisions are fetched from the scheduler that listens at the socket, and from none if it does not lead or run", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-decisions-"));
  t.after(() => rm(directory, { recursive: true }));
  const path = join(directory, "scheduler.sock");
  const query = new URLSearchParams({ pod: "default/web-0" });
  let isLeading = true;
  const scheduler = { decisions: ({ namespace, name }: { readonly namespace: string; readonly name: string }) => [`${namespace}/${name}`] };
  {
    await using _served = await serveDecisions(path, () => (isLeading ? (scheduler as never) : undefined));

    deepEqual(await fetchDecisions(path, query, {}), { is: "decisions", text: '{"items":["default/web-0"]}' });
    const refused = await fetchDecisions(path, new URLSearchParams(), {});
    deepEqual(refused.is, "bad request");
    isLeading = false;
    deepEqual(await fetchDecisions(path, query, {}), { is: "no scheduler" });
  }
  deepEqual(await fetchDecisions(path, query, {}), { is: "no scheduler" });
});
