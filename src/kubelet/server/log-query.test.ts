import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { Refusal } from "./call.ts";
import { logOptions } from "./log-query.ts";

const UNREADABLE = [400, '{"message": "Unable to decode query."}'];
const INVALID = [422, '{"message": "Invalid request."}'];

for (const { query, expected } of [
  { query: "", expected: {} },
  { query: "follow=true&previous=0&timestamps", expected: { follow: true, previous: false, timestamps: true } },
  { query: "tailLines=0&limitBytes=1&sinceSeconds=5", expected: { tailLines: 0, limitBytes: 1, sinceSeconds: 5 } },
  { query: "tail=3&tailLines=9", expected: { tailLines: 3 } },
  { query: "tail=all&tailLines=9", expected: {} },
  { query: "sinceTime=2026-01-01T00:00:00Z&stream=All", expected: { sinceTime: "2026-01-01T00:00:00Z" } },
  { query: "tailLines=x", expected: UNREADABLE },
  { query: "tailLines=9223372036854775808", expected: UNREADABLE },
  { query: "sinceTime=yesterday", expected: UNREADABLE },
  { query: "tailLines=-1", expected: INVALID },
  { query: "limitBytes=0", expected: INVALID },
  { query: "sinceSeconds=0", expected: INVALID },
  { query: "sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z", expected: INVALID },
  {
    query: "stream=Stdout",
    expected: [400, 'unable to return the given log stream: "Stdout". Please enable PodLogsQuerySplitStreams feature gate in kubelet'],
  },
]) {
  test(`the log query "${query}" is parsed as ${JSON.stringify(expected)}`, () => {
    deepEqual(readOrRefused(query), expected);
  });
}

function readOrRefused(query: string): unknown {
  try {
    return logOptions(new URLSearchParams(query));
  } catch (error) {
    if (error instanceof Refusal) return [error.code, error.message];
    throw error;
  }
}
