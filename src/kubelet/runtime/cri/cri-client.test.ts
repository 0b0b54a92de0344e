import { equal } from "node:assert/strict";
import { test } from "node:test";
import { operationOf } from "./cri-client.ts";

for (const { path, operation } of [
  { path: "/runtime.v1.RuntimeService/RunPodSandbox", operation: "run_podsandbox" },
  { path: "/runtime.v1.RuntimeService/ListPodSandboxStats", operation: "list_podsandbox_stats" },
  { path: "/runtime.v1.RuntimeService/PodSandboxStatus", operation: "podsandbox_status" },
  { path: "/runtime.v1.RuntimeService/UpdateContainerResources", operation: "update_container" },
  { path: "/runtime.v1.ImageService/ImageFsInfo", operation: "image_fs_info" },
  { path: "/containerd.services.content.v1.Content/List", operation: undefined },
]) {
  test(`metrics count ${path} as ${operation ?? "nothing"}`, () => equal(operationOf({ path }), operation));
}
