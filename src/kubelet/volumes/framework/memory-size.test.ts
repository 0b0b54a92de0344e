import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, Pod } from "../../../api/generated/core/v1.ts";
import { memoryBytes } from "./memory-size.ts";
import { buildPod } from "../../../api/testing/pod.ts";

function aPod(...containers: readonly Partial<Container>[]): Pod {
  return buildPod({ spec: { containers: containers.map((container, index) => ({ name: `c${index}`, image: "i", ...container })) } });
}

test("the size of a tmpfs is the smallest of the node's memory, the Pod's limit and sizeLimit", () => {
  const limited = { resources: { limits: { memory: "64Mi" } } };
  const mebibytes = (count: number) => count * 2 ** 20;
  for (const [pod, sizeLimit, bytes] of [
    [aPod({}), undefined, mebibytes(1_024)],
    [aPod({}), "10Mi", mebibytes(10)],
    [aPod({}), "2Gi", mebibytes(1_024)],
    [aPod({}), "0", mebibytes(1_024)],
    [aPod(limited, limited), undefined, mebibytes(128)],
    [aPod(limited, {}), undefined, mebibytes(1_024)],
    [aPod(limited), "32Mi", mebibytes(32)],
  ] as const) {
    assert.equal(memoryBytes(pod, { memory: "1Gi" }, sizeLimit), bytes);
  }
  assert.equal(memoryBytes(aPod({}), {}), undefined);
});
