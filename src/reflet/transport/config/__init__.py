"""Where the settings of a connection come from: kubeconfig, pod, environment."""
