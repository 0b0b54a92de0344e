/**
 * Seccomp must use the runtime's default or a localhost profile. "baseline" rejects only Unconfined; "restricted" requires an explicit
 * profile, because the default is unconfined. Before 1.19 annotations set it.
 */
import { quoteGo } from "../../../../api/machinery/codec/go-text.ts";
import {
  containersOf,
  containersThat,
  distinct,
  isForWindows,
  plural,
  quoted,
  setters,
  theContainers,
  unless,
  type Check,
  type CheckedPod,
  type Violation,
} from "../check.ts";

const BASELINE_ID = "seccompProfile_baseline";

export const seccompProfileBaseline: Check = {
  id: BASELINE_ID,
  level: "baseline",
  versions: [
    { since: 0, judge: judgeAnnotations },
    { since: 19, judge: judgeProfiles },
  ],
};

export const seccompProfileRestricted: Check = {
  id: "seccompProfile_restricted",
  level: "restricted",
  versions: [
    { since: 19, judge: judgeSilence, replaces: BASELINE_ID },
    { since: 25, judge: unless(isForWindows, judgeSilence), replaces: BASELINE_ID },
  ],
};

const POD_ANNOTATION = "seccomp.security.alpha.kubernetes.io/pod";
const CONTAINER_ANNOTATION_PREFIX = "container.seccomp.security.alpha.kubernetes.io/";

const REASON = "seccompProfile";

function judgeAnnotations({ annotations, spec }: CheckedPod): Violation | undefined {
  const keys = [POD_ANNOTATION, ...containersOf(spec).map(({ name }) => `${CONTAINER_ANNOTATION_PREFIX}${name}`)];
  const bad = distinct(
    keys
      .filter((key) => Object.hasOwn(annotations, key) && !isAllowedAnnotation(annotations[key] ?? ""))
      .map((key) => `${key}=${quoteGo(annotations[key] ?? "")}`),
  );
  return bad.length === 0 ? undefined : { reason: REASON, detail: `forbidden ${plural("annotation", bad.length)} ${bad.join(", ")}` };
}

function isAllowedAnnotation(value: string): boolean {
  return value === "runtime/default" || value === "docker/default" || value.startsWith("localhost/");
}

type WithProfile = { readonly seccompProfile?: { readonly type: string } } | undefined;

function isBad(context: WithProfile): boolean {
  const profile = context?.seccompProfile;
  return profile !== undefined && profile.type !== "RuntimeDefault" && profile.type !== "Localhost";
}

function judgeProfiles(pod: CheckedPod): Violation | undefined {
  const { securityContext } = pod.spec;
  const who = setters({ pod: isBad(securityContext), containers: containersThat(pod, (container) => isBad(container.securityContext)) });
  if (who.length === 0) return undefined;
  const contexts: WithProfile[] = [securityContext, ...containersOf(pod.spec).map((container) => container.securityContext)];
  const types = distinct(contexts.filter(isBad).map((context) => context?.seccompProfile?.type ?? ""));
  return { reason: REASON, detail: `${who.join(" and ")} must not set securityContext.seccompProfile.type to ${quoted(types)}` };
}

function judgeSilence(pod: CheckedPod): Violation | undefined {
  const bad = judgeProfiles(pod);
  if (bad !== undefined) return bad;
  if (pod.spec.securityContext?.seccompProfile !== undefined) return undefined;
  const silent = containersThat(pod, ({ securityContext }) => securityContext?.seccompProfile === undefined);
  if (silent.length === 0) return undefined;
  const how = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"';
  return { reason: REASON, detail: `pod or ${theContainers(silent)} ${how}` };
}
