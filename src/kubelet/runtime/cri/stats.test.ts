import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { stub } from "../../../base/testing/stub.ts";
import type { CriClient } from "./cri-client.ts";
import { POD_UID } from "./labels.ts";
import { allPodStats } from "./stats.ts";

interface Asked {
  readonly filter: { readonly labels: readonly { readonly key: string; readonly value: string }[] };
}

/** A runtime that fails for all Pods together while one of them is being removed, as containerd does. */
function runtimeWhileRemoving(failing: readonly string[]): CriClient {
  const call = (_method: unknown, { filter }: Asked): Promise<unknown> => {
    const uid = filter.labels.find(({ key }) => key === POD_UID)?.value;
    if (uid === undefined || failing.includes(uid)) return Promise.reject(new Error("failed to get sandbox: not found"));
    return Promise.resolve({ stats: [{ attributes: { id: `c-${uid}`, labels: [{ key: POD_UID, value: uid }] } }] });
  };
  return stub<CriClient>({ call });
}

test("while a Pod is being removed, the statistics are those of all others", async () => {
  const found = await allPodStats(runtimeWhileRemoving(["removed"]), "owner", () => Promise.resolve(["a", "removed", "b"]));

  deepEqual(found.map(({ podUid }) => podUid).sort(), ["a", "b"]);
});

test("statistics fail if those of every Pod do, and are empty without Pods", async () => {
  await rejects(
    allPodStats(runtimeWhileRemoving(["a"]), "owner", () => Promise.resolve(["a"])),
    /not found/,
  );
  deepEqual(await allPodStats(runtimeWhileRemoving([]), "owner", () => Promise.resolve([])), []);
});
