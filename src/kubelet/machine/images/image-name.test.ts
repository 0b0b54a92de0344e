import { equal } from "node:assert/strict";
import { test } from "node:test";
import { digestProblem, wholeImageName } from "./image-name.ts";

const OWN = `sha256:${"a".repeat(64)}`;
const LIST = `sha256:${"c".repeat(64)}`;
const OTHER = `sha256:${"b".repeat(64)}`;

for (const [name, problem] of [
  ["reg.example/x:1", undefined],
  [`reg.example/x@${OWN}`, undefined],
  [`reg.example:5000/x:1@${OWN}`, undefined],
  [`reg.example/x@${LIST}`, undefined],
  [
    `reg.example/x@${OTHER}`,
    `Cannot call the image "reg.example/x@${OTHER}": its digest is ${OWN}; give "reg.example/x@${OWN}" or a tag with --image-name`,
  ],
  [
    `reg.example/x:1@${OTHER}`,
    `Cannot call the image "reg.example/x:1@${OTHER}": its digest is ${OWN}; give "reg.example/x:1@${OWN}" or a tag with --image-name`,
  ],
] as const) {
  test(`an image whose digest is a… ${problem === undefined ? "may" : "may not"} be named ${name}`, () => {
    equal(digestProblem(name, { own: OWN, list: LIST }), problem);
  });
}

for (const [name, whole] of [
  ["busybox", "docker.io/library/busybox:latest"],
  ["team/app:2", "docker.io/team/app:2"],
  ["reg.example:5000/x", "reg.example:5000/x:latest"],
  [`x@${OWN}`, `docker.io/library/x@${OWN}`],
] as const) {
  test(`${name} expands to ${whole}`, () => equal(wholeImageName(name), whole));
}
