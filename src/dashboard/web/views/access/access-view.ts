/** Who may do something (by the RBAC objects that the user may read), and what the user may do (by the server's own review). */
import { h, type JSX } from "preact";
import { addressOf } from "../../route.ts";
import type { View, ViewProps } from "../view.ts";
import { MyRules } from "./my-rules.ts";
import { WhoCan } from "./who-can.ts";

export const accessView: View = { name: "access", menuTitle: "Access: who can", titleOf: () => "Access", component: AccessView };

function AccessView({ context, route }: ViewProps): JSX.Element {
  const isOwn = route.segments[0] === "me";
  const { ns } = route.query;
  const link = (title: string, segments: readonly string[], isCurrent: boolean) =>
    h("a", { href: `#${addressOf("access", segments, { ns })}`, "aria-current": isCurrent ? "page" : undefined }, title);
  return h(
    "section",
    { class: "access" },
    h("div", { class: "bar" }, h("h1", null, "Access")),
    h("nav", { class: "tabs", "aria-label": "Questions" }, link("Who can?", [], !isOwn), link("What can I do?", ["me"], isOwn)),
    isOwn ? h(MyRules, { context, route }) : h(WhoCan, { context, route }),
  );
}
