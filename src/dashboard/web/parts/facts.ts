/** Names with values, as a list that screen readers announce in pairs. */
import { h, type ComponentChildren, type JSX } from "preact";

/** Without those whose value is undefined. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }): JSX.Element {
  const given = facts.filter(([, value]) => value !== undefined && value !== "");
  return h(
    "dl",
    { class: "facts" },
    given.map(([name, value]) => h("div", { key: name }, h("dt", null, name), h("dd", null, value))),
  );
}
