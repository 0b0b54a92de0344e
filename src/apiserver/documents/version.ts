/**
 * /version: the Kubernetes version of the served API, which tools use for feature detection; the suffix names the implementation and is
 * semver build metadata, without effect on precedence. Fields specific to Go are empty.
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
  // Upstream's value for unknown.
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
