/** The object as YAML, without the bookkeeping of field ownership unless it is asked for. */
import { h, type JSX } from "preact";
import { useState } from "preact/hooks";
import { writeYaml } from "../../../../api/machinery/codec/yaml/write.ts";
import type { KubeObject } from "../../../../api/machinery/object.ts";
import type { Tab, TabProps } from "./tab.ts";

export const yamlTab: Tab = { name: "yaml", title: "YAML", isFor: () => true, component: YamlTab };

function YamlTab({ object }: TabProps): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  return h(
    "div",
    { class: "yaml" },
    h(
      "label",
      { class: "option" },
      h("input", { type: "checkbox", checked: isWhole, onChange: () => setWhole(!isWhole) }),
      " Show managed fields",
    ),
    h(
      "pre",
      { tabIndex: 0, "aria-label": "YAML of the object", role: "region" },
      writeYaml(isWhole ? object : withoutManagedFields(object)),
    ),
  );
}

export function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _bookkeeping, ...metadata } = object.metadata;
  return { ...object, metadata };
}
