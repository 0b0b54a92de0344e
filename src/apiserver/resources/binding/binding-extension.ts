/** `bindings`: the older way to say that a Pod belongs to a node; the same as `pods/binding`. */
import { noSuchPath } from "../../../api/machinery/status-error.ts";
import { bindPod } from "../../bind-pod.ts";
import type { ExtensionFactory } from "../../extension.ts";

export const bindingExtension: ExtensionFactory = (server) => ({
  group: "",
  plural: "bindings",
  answer({ request, object }) {
    const endpoint = server.endpoints.stored("", "pods");
    if (endpoint === undefined) throw noSuchPath();
    const { name } = object.metadata;
    return bindPod(server, { endpoint, object, request: { ...request, plural: "pods", name, subresource: "binding" } });
  },
});
