/** Subjects that may do something, each with its binding and role. */
import { h, type JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { KubeObject } from "../../../../api/machinery/object.ts";
import { findKind, kindId, pathOf, type Kind } from "../../../data/kinds.ts";
import type { LiveState } from "../../../data/live-list.ts";
import { subjectText, whoCan, type BindingObject, type Grant, type Policy } from "../../../data/rbac/who-can.ts";
import { TextField } from "../../parts/form.ts";
import { objectAddress } from "../../parts/links.ts";
import { useObjects } from "../../parts/live.ts";
import { Empty, ErrorNote, Waiting } from "../../parts/notes.ts";
import { useAccess } from "../../parts/access.ts";
import { SmallTable } from "../../parts/small-table.ts";
import type { Context, ViewProps } from "../view.ts";

const GROUP = "rbac.authorization.k8s.io";
const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "*"];
/** Of each kind. Larger policies are not evaluated in a page. */
const OBJECTS_MAX = 5_000;

export function WhoCan({ context, route }: ViewProps): JSX.Element {
  const { ns: namespace = "" } = route.query;
  const [verb, setVerb] = useState("get");
  const [resource, setResource] = useState("pods");
  const [name, setName] = useState("");
  const suggested = useMemo(() => context.kinds.flatMap(resourcesOf), [context.kinds]);
  return h(
    "div",
    null,
    h(
      "div",
      { class: "controls" },
      h(TextField, { label: "Verb", value: verb, suggested: VERBS, changed: setVerb }),
      h(TextField, { label: "Resource", value: resource, suggested, changed: setResource }),
      h(TextField, { label: "Name (optional)", value: name, changed: setName }),
      h("span", { class: "count" }, namespace === "" ? "In all namespaces: choose one at the top" : `In namespace ${namespace}`),
    ),
    h(Answer, { context, verb, resource, namespace, name }),
  );
}

/** "deployments.apps", "deployments.apps/scale": as kubectl writes them. */
function resourcesOf(kind: Kind): readonly string[] {
  return [kindId(kind), ...kind.subresources.map((subresource) => `${kindId(kind)}/${subresource}`)];
}

interface AnswerProps {
  readonly context: Context;
  readonly verb: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Limited users get a sentence: the four lists are requested only by those who may read them. */
function Answer(props: AnswerProps): JSX.Element {
  const { context, namespace } = props;
  const needed = [
    ...["clusterroles", "clusterrolebindings"].map((resource) => ({ verb: "list", group: GROUP, resource })),
    ...["roles", "rolebindings"].map((resource) => ({ verb: "list", group: GROUP, resource, namespace })),
  ];
  const forbidden = useAccess(context, needed);
  if (forbidden === undefined) return h(Waiting, { what: "permissions" });
  return forbidden === "" ? h(Grants, props) : h(Empty, { text: `${forbidden} "What can I do?" lists your permissions.` });
}

function Grants({ context, verb, resource, namespace, name }: AnswerProps): JSX.Element {
  const clusterRoles = useRbac(context, "clusterroles", "");
  const clusterRoleBindings = useRbac(context, "clusterrolebindings", "");
  const roles = useRbac(context, "roles", namespace);
  const roleBindings = useRbac(context, "rolebindings", namespace);
  const all = [clusterRoles, clusterRoleBindings, roles, roleBindings];
  const grants = useMemo(() => {
    const itemsOf = (state: LiveState<KubeObject> | undefined) => [...(state?.items.values() ?? [])];
    // The server's schema guarantees the type.
    const bindingsOf = (state: LiveState<KubeObject> | undefined) => itemsOf(state) as readonly KubeObject[] as readonly Binding[];
    const policy: Policy = {
      clusterRoles: itemsOf(clusterRoles),
      clusterRoleBindings: bindingsOf(clusterRoleBindings),
      roles: itemsOf(roles),
      roleBindings: bindingsOf(roleBindings),
    };
    return whoCan(policy, { verb, namespace, name, ...resourceQuestion(resource) });
  }, [...all, verb, resource, namespace, name]);
  const error = all.find((state) => state?.error !== undefined)?.error;
  if (error !== undefined) return h(ErrorNote, { error });
  if (all.some((state) => state?.isComplete !== true && state?.isTruncated !== true)) return h(Waiting, { what: "roles and bindings" });
  return h(
    "div",
    null,
    all.some((state) => state?.isTruncated === true)
      ? h(Empty, { text: `The list is incomplete: of each kind only the first ${OBJECTS_MAX} objects were read.` })
      : null,
    h("p", { class: "count", role: "status" }, `${grants.length} ${grants.length === 1 ? "subject" : "subjects"}`),
    h(SmallTable, {
      title: `Who can ${verb} ${resource}${name === "" ? "" : ` ${name}`}`,
      heads: ["Subject", "Binding", "Role", "Only objects"],
      rows: grants.map((grant) => rowOf(context, grant)),
    }),
    h("p", { class: "count" }, "The group system:masters may do everything, without a role. Nodes have an authorizer of their own."),
  );
}

type Binding = KubeObject & Partial<BindingObject> & Pick<BindingObject, "roleRef">;

function useRbac(context: Context, plural: string, namespace: string): LiveState<KubeObject> | undefined {
  const kind = findKind(context.kinds, plural, GROUP);
  return useObjects(context, kind === undefined ? "" : pathOf(kind, { namespace }), undefined, OBJECTS_MAX);
}

/** "deployments.apps/scale" is resource "deployments/scale" of group "apps". */
function resourceQuestion(text: string): { readonly group: string; readonly resource: string } {
  const [id = "", subresource] = text.trim().split("/");
  const dot = id.indexOf(".");
  const plural = dot < 0 ? id : id.slice(0, dot);
  return { group: dot < 0 ? "" : id.slice(dot + 1), resource: subresource === undefined ? plural : `${plural}/${subresource}` };
}

function rowOf(context: Context, { subject, binding, role, names }: Grant): readonly (JSX.Element | string)[] {
  const link = (kindName: string, plural: string, target: { readonly name: string; readonly namespace: string }) => {
    const kind = findKind(context.kinds, plural, GROUP);
    const text = `${kindName} ${target.name}`;
    return kind === undefined ? text : h("a", { href: `#${objectAddress(kind, target)}` }, text);
  };
  return [
    subjectText(subject),
    link(binding.kind, binding.kind === "RoleBinding" ? "rolebindings" : "clusterrolebindings", binding),
    link(role.kind, role.kind === "Role" ? "roles" : "clusterroles", role),
    names.join(", "),
  ];
}
