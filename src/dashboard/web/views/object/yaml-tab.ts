/** The object as YAML, without the bookkeeping of field ownership unless it is asked for; and its editor. */
import { h, type JSX } from "preact";
import { useState } from "preact/hooks";
import { writeVisibleYaml } from "../../../../api/machinery/codec/yaml/write.ts";
import type { KubeObject } from "../../../../api/machinery/object.ts";
import { useAccess } from "../../parts/access.ts";
import { Button, Checkbox } from "../../parts/form.ts";
import { EditYaml } from "./editor/edit-yaml.ts";
import type { Tab, TabProps } from "./tab.ts";

export const yamlTab: Tab = { name: "yaml", title: "YAML", isFor: () => true, component: YamlTab };

function YamlTab(props: TabProps): JSX.Element {
  const { context, kind, object } = props;
  const [isWhole, setWhole] = useState(false);
  const [isEdited, setEdited] = useState(false);
  const { name, namespace = "" } = object.metadata;
  const { group, plural: resource, verbs } = kind;
  const forbidden = useAccess(context, [{ verb: "update", group, resource, namespace, name }]);
  if (isEdited) return h(EditYaml, { ...props, done: () => setEdited(false) });
  return h(
    "div",
    { class: "yaml" },
    h(
      "div",
      { class: "controls" },
      verbs.includes("update") ? h(Button, { text: "Edit", isDisabled: forbidden !== "", press: () => setEdited(true) }) : null,
      h(Checkbox, { label: "Show managed fields", isChecked: isWhole, change: setWhole }),
      forbidden === undefined || forbidden === "" ? null : h("span", { class: "count" }, forbidden),
    ),
    h(
      "pre",
      { tabIndex: 0, "aria-label": "YAML of the object", role: "region" },
      writeVisibleYaml(isWhole ? object : withoutManagedFields(object)),
    ),
  );
}

export function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _bookkeeping, ...metadata } = object.metadata;
  return { ...object, metadata };
}
