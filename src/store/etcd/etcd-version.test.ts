import { test } from "node:test";
import { equal } from "node:assert/strict";
import { hasReliableProgress, refusalOf } from "./etcd-version.ts";

for (const { version, usable, progress, says } of [
  { version: "2.3.8", usable: false, progress: false, says: "too old" },
  { version: "3.3.27", usable: false, progress: false, says: "too old" },
  { version: "3.4.0", usable: true, progress: false },
  { version: "3.4.23", usable: true, progress: false },
  { version: "3.4.30", usable: true, progress: false },
  { version: "3.4.31", usable: true, progress: true },
  { version: "3.4.100", usable: true, progress: true },
  { version: "3.5.0-rc.1", usable: false, progress: false, says: "corrupt" },
  { version: "3.5.0", usable: false, progress: false, says: "corrupt" },
  { version: "3.5.2", usable: false, progress: false, says: "corrupt" },
  { version: "3.5.3", usable: true, progress: false },
  { version: "3.5.12", usable: true, progress: false },
  { version: "3.5.13", usable: true, progress: true },
  { version: "3.5.21+git", usable: true, progress: true },
  { version: "3.6.0", usable: true, progress: true },
  { version: "3.10.0", usable: true, progress: true },
  { version: "4.0.0", usable: true, progress: true },
  { version: "", usable: false, progress: false, says: "form" },
  { version: "three", usable: false, progress: false, says: "form" },
]) {
  test(`etcd ${JSON.stringify(version)} is ${usable ? "accepted" : "rejected"}, its progress notifications are ${progress ? "reliable" : "unreliable"}`, () => {
    const refusal = refusalOf(version);
    equal(refusal === undefined, usable);
    equal(hasReliableProgress(version), progress);
    if (says !== undefined) equal(refusal?.includes(says), true, `${refusal} must say "${says}"`);
  });
}
