/** Name of the image that every node with a containerd of k8ts's own has. In a file of its own: its contents take time to load. */
export const PAUSE_IMAGE = "k8ts.local/pause:1";
