/**
 * /version: which Kubernetes this is. Tools decide by it what they may ask for, so it is that of the API which is served; the suffix says
 * who serves it, and is none of a version's order (semver calls it build metadata). What only a Go program has is empty.
 */
import { JSON_TYPE, negotiate, notAcceptable } from "../../api/machinery/codec/media-type.ts";
import type { Document } from "../framework/document.ts";
import { KUBERNETES_VERSION, OLDEST_COMPATIBLE_MINOR } from "../shared/kubernetes-version.ts";

const { major, minor, patch } = KUBERNETES_VERSION;

const VERSION = {
  major,
  minor,
  emulationMajor: major,
  emulationMinor: minor,
  minCompatibilityMajor: major,
  minCompatibilityMinor: OLDEST_COMPATIBLE_MINOR,
  gitVersion: `v${major}.${minor}.${patch}+k8ts`,
  gitCommit: "",
  gitTreeState: "",
  // As upstream writes that it does not know.
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "typescript",
  platform: "javascript/any",
};

export function versionDocument(): Document {
  const body = [new TextEncoder().encode(JSON.stringify(VERSION, null, 2))];
  return {
    name: "version",
    answers: (path) => path === "/version",
    listedPaths: () => ["/version"],
    answer(request) {
      if (negotiate(request.header("accept"), [JSON_TYPE]) === undefined) throw notAcceptable([JSON_TYPE]);
      return { code: 200, headers: { "content-type": JSON_TYPE, "cache-control": "no-cache, private" }, body };
    },
  };
}
