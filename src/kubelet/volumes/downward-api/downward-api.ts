/** downwardAPI: fields of the Pod and resources of its containers as files. In memory, as upstream. */
import { downwardFiles } from "../framework/downward-files.ts";
import { FILE_MODE_DEFAULT, filesPlugin } from "../framework/files-plugin.ts";

export const downwardAPI = filesPlugin({
  source: "downwardAPI",
  directory: "kubernetes.io~downward-api",
  medium: "memory",
  isEphemeral: false,
  async resolve({ pod, volume }, node) {
    const { items = [], defaultMode = FILE_MODE_DEFAULT } = volume.downwardAPI ?? {};
    return downwardFiles(items, { pod, nodeAllocatable: node.nodeAllocatable(), defaultMode });
  },
});
