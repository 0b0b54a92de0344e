/**
 * Deprecated node labels that have a newer name. Selectors with an old one still work, with a warning: in Pods, volumes and storage
 * classes.
 */
import type { Warnings } from "../../../machinery/findings.ts";
import { validateLabelValue } from "../../../machinery/names.ts";
import type { LabelSelectorObject } from "../../../machinery/selectors/label-selector.ts";

const DEPRECATED_LABELS: ReadonlyMap<string, string> = new Map([
  ["beta.kubernetes.io/arch", 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ["beta.kubernetes.io/os", 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ["failure-domain.beta.kubernetes.io/region", 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ["failure-domain.beta.kubernetes.io/zone", 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ["beta.kubernetes.io/instance-type", 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ["app.kubernetes.io/created-by", "deprecated since v1.9"],
  ["scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead"],
  ["node-role.kubernetes.io/master", 'use "node-role.kubernetes.io/control-plane" instead'],
]);

/** The deprecation message of a label, if it has one: `deprecated since …`. */
export function deprecatedNodeLabel(key: string): string | undefined {
  return DEPRECATED_LABELS.get(key);
}

interface Term {
  readonly matchExpressions?: readonly { readonly key: string; readonly values?: readonly string[] }[];
}

/** Warnings of one NodeSelector term; where values are not validated, invalid ones produce warnings, too. */
export function nodeSelectorTermWarnings(
  warnings: Warnings,
  { matchExpressions }: Term,
  at: string,
  options: { readonly withValues?: boolean } = {},
): void {
  for (const [index, { key, values }] of (matchExpressions ?? []).entries()) {
    const here = `${at}.matchExpressions[${index}]`;
    const message = deprecatedNodeLabel(key);
    if (message !== undefined) warnings.add(`${here}.key: ${key} is ${message}`);
    if (options.withValues !== true) continue;
    for (const [position, value] of (values ?? []).entries()) {
      for (const problem of validateLabelValue(value)) warnings.add(`${here}.values[${position}]: ${value} is invalid, ${problem}`);
    }
  }
}

/** Warnings of a label selector for nodes. */
export function nodeLabelSelectorWarnings(warnings: Warnings, selector: LabelSelectorObject | undefined, at: string): void {
  if (selector === undefined) return;
  nodeSelectorTermWarnings(warnings, selector, at);
  for (const key of Object.keys(selector.matchLabels ?? {})) {
    const message = deprecatedNodeLabel(key);
    if (message !== undefined) warnings.add(`${at}.matchLabels.${key}: ${message}`);
  }
}
