/** The runtime's default AppArmor profile may be replaced by a localhost profile, but not disabled, by field or by legacy annotation. */
import { quoteGo } from "../../../../api/machinery/codec/go-text.ts";
import { containersOf, containersThat, distinct, plural, quoted, setters, type Check, type CheckedPod, type Violation } from "../check.ts";

const ANNOTATION_PREFIX = "container.apparmor.security.beta.kubernetes.io/";

export const appArmorProfile: Check = { id: "appArmorProfile", level: "baseline", versions: [{ since: 0, judge }] };

type WithProfile = { readonly appArmorProfile?: { readonly type: string } } | undefined;

function judge(pod: CheckedPod): Violation | undefined {
  const { securityContext } = pod.spec;
  const containers = containersThat(pod, (container) => isBad(container.securityContext));
  const annotations = badAnnotations(pod.annotations);
  const who = [
    ...setters({ pod: isBad(securityContext), containers }),
    ...(annotations.length === 0 ? [] : [plural("annotation", annotations.length)]),
  ];
  if (who.length === 0) return undefined;
  const contexts: WithProfile[] = [securityContext, ...containersOf(pod.spec).map((container) => container.securityContext)];
  const values = [...distinct(contexts.filter(isBad).map((context) => context?.appArmorProfile?.type ?? "")), ...annotations];
  return {
    reason: plural("forbidden AppArmor profile", values.length),
    detail: `${who.join(" and ")} must not set AppArmor profile type to ${quoted(values)}`,
  };
}

function isBad(context: WithProfile): boolean {
  const profile = context?.appArmorProfile;
  return profile !== undefined && profile.type !== "RuntimeDefault" && profile.type !== "Localhost";
}

function badAnnotations(annotations: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(annotations)
    .filter(([key, value]) => key.startsWith(ANNOTATION_PREFIX) && !isAllowed(value))
    .map(([key, value]) => `${key}=${quoteGo(value)}`)
    .toSorted();
}

function isAllowed(value: string): boolean {
  return value === "" || value === "runtime/default" || value.startsWith("localhost/");
}
