/** Checks for the oldest supported Node.js before any code that an older one cannot run. */
import { StepFailed } from "./step.mjs";

const OLDEST = { major: 20, minor: 19 };

/** @param {string} version as in process.versions.node */
export function checkNode(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return;
  throw new StepFailed(
    `k8ts needs Node.js ${OLDEST.major}.${OLDEST.minor} or newer, this is ${version}; install a newer one and try again`,
  );
}
