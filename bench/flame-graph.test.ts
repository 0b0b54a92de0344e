import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import { flameGraph, type CpuProfile } from "./flame-graph.ts";

const frame = (functionName: string, url = "file:///a.js") => ({ functionName, url });

const PROFILE: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame("(root)", ""), children: [2, 4] },
    { id: 2, callFrame: frame("serve"), children: [3] },
    { id: 3, callFrame: frame("write<T>", "node:net") },
    { id: 4, callFrame: frame("(idle)", "") },
  ],
  samples: [2, 3, 3, 4],
  timeDeltas: [25, 50, 25, 900],
};

test("a flame graph has a frame per function with its share of the time that was not idle", () => {
  const picture = flameGraph(PROFILE, "GET");

  const frames = [...picture.matchAll(/<title>([^<]*)<\/title>/g)].map(([, title]) => title);
  deepEqual(frames, ["all 100.0 %", "serve 100.0 %", "write&lt;T&gt; 75.0 %"]);
  match(picture, /^<svg [^]*GET \(0\.0 s;[^]*<\/svg>\n$/);
});
