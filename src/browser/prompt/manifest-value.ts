/** One value in JSON or YAML, as an argument of a command. */
import { parseYaml } from "../../api/machinery/codec/yaml/yaml.ts";
import type { Json } from "../../api/machinery/object.ts";

export function parseJsonOrYaml(text: string): Json {
  return parseYaml(new TextEncoder().encode(text)).value;
}
