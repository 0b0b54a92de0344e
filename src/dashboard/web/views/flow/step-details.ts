/** One step of a flow: its object, who and why, and what it changed. */
import { h, type JSX } from "preact";
import type { CauseItem } from "../../../../explain/explain-api.ts";
import { objectOf, stageTimes, type FlowStep } from "../../../data/flow/flow-graph.ts";
import { kindOfId } from "../../../data/kinds.ts";
import { Facts } from "../../parts/facts.ts";
import { FieldDiff } from "../../parts/field-diff.ts";
import { objectAddress } from "../../parts/links.ts";
import type { Context } from "../view.ts";

export function StepDetails({ context, step }: { readonly context: Context; readonly step: FlowStep }): JSX.Element {
  const { item, stage, title, isRefused } = step;
  const { user, userAgent, requestID, time, resourceVersion, cause, refusal, stages } = item;
  return h(
    "div",
    { class: "details", tabIndex: 0, role: "region", "aria-label": `Step: ${title}` },
    h("h2", null, title),
    h("p", { class: isRefused ? "note error" : "sentence" }, step.sentence),
    h(Facts, {
      facts: [
        ["Object", objectLink(context, item)],
        ["Time", time],
        ["Revision", resourceVersion],
        ["User", user],
        ["Client", userAgent],
        ["Request", requestID],
        ["Authenticated by", stages?.authentication?.by],
        ["Impersonated by", stages?.authentication?.impersonator],
        ["Allowed by", authorizerOf(item)],
        ["Took", stageTimes(item)],
        ["Component", cause?.controller],
        ["Reconciled", cause?.key],
        ["Reason", cause?.reason],
        ["Woken by", cause?.object === undefined ? undefined : `${cause.object} at revision ${cause.revision ?? "unknown"}`],
        ["Admission", item.admission?.map(({ plugin, changed }) => `${plugin}: ${changed.join(", ")}`).join("; ")],
        ["Audit annotations", auditAnnotationsOf(item)],
        ["Refused", refusal === undefined ? undefined : `${refusal.code} ${refusal.reason}: ${refusal.message}`],
      ],
    }),
    stage !== "store" || resourceVersion === undefined ? null : h(StoredChange, { context, item, revision: resourceVersion }),
  );
}

/** Reasons of RBAC begin with its name. */
function authorizerOf({ stages }: CauseItem): string | undefined {
  const { by = "", reason = "" } = stages?.authorization ?? {};
  return reason.startsWith(`${by}: `) ? reason : [by, reason].filter(Boolean).join(": ");
}

function auditAnnotationsOf({ stages }: CauseItem): string | undefined {
  const annotations = Object.entries(stages?.admission?.auditAnnotations ?? {});
  return annotations.length === 0 ? undefined : annotations.map(([key, value]) => `${key}: ${value}`).join("; ");
}

function StoredChange({ context, item, revision }: { readonly context: Context; readonly item: CauseItem; readonly revision: string }) {
  const { resource, namespace = "", name = "" } = item;
  const of = { resource, namespace, name, from: String(Number(revision) - 1), to: revision };
  return h("div", null, h("h2", null, "What it changed"), h(FieldDiff, { key: revision, context, of }));
}

function objectLink({ kinds }: Context, item: CauseItem): JSX.Element | string {
  const kind = kindOfId(kinds, item.resource);
  const { namespace = "", name = "" } = item;
  if (kind === undefined || name === "") return objectOf(item);
  return h("a", { href: `#${objectAddress(kind, { namespace, name })}` }, objectOf(item));
}
