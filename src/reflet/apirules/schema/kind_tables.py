"""Which kinds Kubernetes has besides those with rules here, which it had, and which are files.

Data alone; ``known_kinds`` judges by it.  ``WITHOUT_RULES`` is compared with the discovery of a
real API server that serves everything, ``REMOVED`` follows the deprecation guide and, for alpha
versions, the changelogs.

Upstream: pkg/controlplane/instance.go; k8s.io/api/*/zz_generated.prerelease-lifecycle.go;
kubernetes.io/docs/reference/using-api/deprecation-guide
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

RELEASE: Final = "1.36"

WITHOUT_RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "v1": "Binding ComponentStatus",
        "admissionregistration.k8s.io/v1alpha1": (
            "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding"
        ),
        "admissionregistration.k8s.io/v1beta1": (
            "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding"
        ),
        "authentication.k8s.io/v1": "SelfSubjectReview TokenReview",
        "authorization.k8s.io/v1": (
            "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview "
            "SubjectAccessReview"
        ),
        "certificates.k8s.io/v1alpha1": "ClusterTrustBundle",
        "certificates.k8s.io/v1beta1": "ClusterTrustBundle PodCertificateRequest",
        "coordination.k8s.io/v1alpha2": "LeaseCandidate",
        "coordination.k8s.io/v1beta1": "LeaseCandidate",
        "internal.apiserver.k8s.io/v1alpha1": "StorageVersion",
        "networking.k8s.io/v1beta1": "IPAddress ServiceCIDR",
        "resource.k8s.io/v1alpha3": "DeviceTaintRule ResourcePoolStatusRequest",
        "resource.k8s.io/v1beta1": "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
        "resource.k8s.io/v1beta2": (
            "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice"
        ),
        "scheduling.k8s.io/v1alpha2": "PodGroup Workload",
        "storage.k8s.io/v1beta1": "VolumeAttributesClass",
        "storagemigration.k8s.io/v1beta1": "StorageVersionMigration",
    }
)
"""Kinds of the release that have no rules here, in any version, alpha and beta included."""


class Removal(NamedTuple):
    """When kinds of one version went, and the apiVersion to use instead or a sentence."""

    kinds: str
    release: str
    instead: str


_ADMIT: Final = "admissionregistration.k8s.io"
_DYNAMIC: Final = "resource.k8s.io"
_FLOW: Final = "flowcontrol.apiserver.k8s.io"
_PRIORITY: Final = "FlowSchema PriorityLevelConfiguration"
_RBAC: Final = "rbac.authorization.k8s.io"
_ROLES: Final = "ClusterRole ClusterRoleBinding Role RoleBinding"
_NO_POLICIES: Final = (
    "nothing replaces it: Pod Security Admission, by labels of the namespace, does its work"
)
_NO_CLASSIC: Final = "nothing replaces it: classic dynamic resource allocation is gone"

REMOVED: Final[Mapping[str, tuple[Removal, ...]]] = MappingProxyType(
    {
        "extensions/v1beta1": (
            Removal("DaemonSet Deployment ReplicaSet", "1.16", "apps/v1"),
            Removal("Ingress", "1.22", "networking.k8s.io/v1"),
            Removal("NetworkPolicy", "1.16", "networking.k8s.io/v1"),
            Removal("PodSecurityPolicy", "1.16", _NO_POLICIES),
            Removal("ThirdPartyResource", "1.8", "define a CustomResourceDefinition instead"),
        ),
        "apps/v1beta1": (
            Removal("ControllerRevision Deployment ReplicaSet StatefulSet", "1.16", "apps/v1"),
        ),
        "apps/v1beta2": (
            Removal(
                "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet", "1.16", "apps/v1"
            ),
        ),
        "autoscaling/v2beta1": (Removal("HorizontalPodAutoscaler", "1.25", "autoscaling/v2"),),
        "autoscaling/v2beta2": (Removal("HorizontalPodAutoscaler", "1.26", "autoscaling/v2"),),
        "batch/v1beta1": (Removal("CronJob", "1.25", "batch/v1"),),
        "batch/v2alpha1": (Removal("CronJob", "1.21", "batch/v1"),),
        "policy/v1beta1": (
            Removal("PodDisruptionBudget", "1.25", "policy/v1"),
            Removal("PodSecurityPolicy", "1.25", _NO_POLICIES),
        ),
        "settings.k8s.io/v1alpha1": (
            Removal(
                "PodPreset",
                "1.20",
                "nothing replaces it: set it in the pods, or by a MutatingAdmissionPolicy",
            ),
        ),
        "auditregistration.k8s.io/v1alpha1": (
            Removal(
                "AuditSink",
                "1.19",
                "nothing replaces it: configure the webhook of the API server's audit",
            ),
        ),
        f"{_ADMIT}/v1alpha1": (
            Removal(
                "InitializerConfiguration",
                "1.14",
                "nothing replaces it: use a MutatingWebhookConfiguration",
            ),
            Removal(
                "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding", "1.32", f"{_ADMIT}/v1"
            ),
        ),
        f"{_ADMIT}/v1beta1": (
            Removal(
                "MutatingWebhookConfiguration ValidatingWebhookConfiguration",
                "1.22",
                f"{_ADMIT}/v1",
            ),
            Removal(
                "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding", "1.34", f"{_ADMIT}/v1"
            ),
        ),
        "apiextensions.k8s.io/v1beta1": (
            Removal("CustomResourceDefinition", "1.22", "apiextensions.k8s.io/v1"),
        ),
        "apiregistration.k8s.io/v1beta1": (
            Removal("APIService", "1.22", "apiregistration.k8s.io/v1"),
        ),
        "authentication.k8s.io/v1alpha1": (
            Removal("SelfSubjectReview", "1.32", "authentication.k8s.io/v1"),
        ),
        "authentication.k8s.io/v1beta1": (
            Removal("SelfSubjectReview", "1.33", "authentication.k8s.io/v1"),
            Removal("TokenReview", "1.22", "authentication.k8s.io/v1"),
        ),
        "authorization.k8s.io/v1beta1": (
            Removal(WITHOUT_RULES["authorization.k8s.io/v1"], "1.22", "authorization.k8s.io/v1"),
        ),
        "certificates.k8s.io/v1beta1": (
            Removal("CertificateSigningRequest", "1.22", "certificates.k8s.io/v1"),
        ),
        "coordination.k8s.io/v1alpha1": (
            Removal("LeaseCandidate", "1.32", "coordination.k8s.io/v1beta1"),
        ),
        "coordination.k8s.io/v1beta1": (Removal("Lease", "1.22", "coordination.k8s.io/v1"),),
        "discovery.k8s.io/v1alpha1": (Removal("EndpointSlice", "1.21", "discovery.k8s.io/v1"),),
        "discovery.k8s.io/v1beta1": (Removal("EndpointSlice", "1.25", "discovery.k8s.io/v1"),),
        "events.k8s.io/v1beta1": (Removal("Event", "1.25", "events.k8s.io/v1"),),
        f"{_FLOW}/v1beta1": (Removal(_PRIORITY, "1.26", f"{_FLOW}/v1"),),
        f"{_FLOW}/v1beta2": (Removal(_PRIORITY, "1.29", f"{_FLOW}/v1"),),
        f"{_FLOW}/v1beta3": (Removal(_PRIORITY, "1.32", f"{_FLOW}/v1"),),
        "networking.k8s.io/v1alpha1": (
            Removal("ClusterCIDR", "1.29", "nothing replaces it: give nodes their podCIDR"),
        ),
        "networking.k8s.io/v1beta1": (
            Removal("Ingress IngressClass", "1.22", "networking.k8s.io/v1"),
        ),
        "node.k8s.io/v1alpha1": (Removal("RuntimeClass", "1.24", "node.k8s.io/v1"),),
        "node.k8s.io/v1beta1": (Removal("RuntimeClass", "1.25", "node.k8s.io/v1"),),
        f"{_RBAC}/v1alpha1": (Removal(_ROLES, "1.23", f"{_RBAC}/v1"),),
        f"{_RBAC}/v1beta1": (Removal(_ROLES, "1.22", f"{_RBAC}/v1"),),
        f"{_DYNAMIC}/v1alpha1": (
            Removal("ResourceClaim ResourceClaimTemplate", "1.27", f"{_DYNAMIC}/v1"),
            Removal("PodScheduling ResourceClass", "1.27", _NO_CLASSIC),
        ),
        f"{_DYNAMIC}/v1alpha2": (
            Removal("ResourceClaim ResourceClaimTemplate ResourceSlice", "1.31", f"{_DYNAMIC}/v1"),
            Removal(
                "PodSchedulingContext ResourceClaimParameters ResourceClass "
                "ResourceClassParameters",
                "1.31",
                _NO_CLASSIC,
            ),
        ),
        f"{_DYNAMIC}/v1alpha3": (
            Removal(WITHOUT_RULES[f"{_DYNAMIC}/v1beta1"], "1.34", f"{_DYNAMIC}/v1"),
            Removal("PodSchedulingContext", "1.32", _NO_CLASSIC),
        ),
        "scheduling.k8s.io/v1alpha1": (
            Removal("PriorityClass", "1.23", "scheduling.k8s.io/v1"),
            Removal("Workload", "1.36", "scheduling.k8s.io/v1alpha2"),
        ),
        "scheduling.k8s.io/v1beta1": (Removal("PriorityClass", "1.22", "scheduling.k8s.io/v1"),),
        "storage.k8s.io/v1alpha1": (
            Removal("CSIStorageCapacity VolumeAttachment", "1.24", "storage.k8s.io/v1"),
            Removal("VolumeAttributesClass", "1.35", "storage.k8s.io/v1"),
        ),
        "storage.k8s.io/v1beta1": (
            Removal("CSIDriver CSINode StorageClass VolumeAttachment", "1.22", "storage.k8s.io/v1"),
            Removal("CSIStorageCapacity", "1.27", "storage.k8s.io/v1"),
        ),
        "storagemigration.k8s.io/v1alpha1": (
            Removal("StorageVersionMigration", "1.35", "storagemigration.k8s.io/v1beta1"),
        ),
    }
)

_KUBERNETES: Final = "a component of Kubernetes reads it when it starts"

CONFIGURATION_GROUPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "abac.authorization.kubernetes.io": _KUBERNETES,
        "apiserver.config.k8s.io": _KUBERNETES,
        "apiserver.k8s.io": _KUBERNETES,
        "audit.k8s.io": _KUBERNETES,
        "client.authentication.k8s.io": "kubectl and credential plugins speak it",
        "cloudcontrollermanager.config.k8s.io": _KUBERNETES,
        "config.kubernetes.io": "kustomize reads it",
        "controller-runtime.sigs.k8s.io": "an operator reads it when it starts",
        "credentialprovider.kubelet.k8s.io": _KUBERNETES,
        "ctlptl.dev": "ctlptl reads it",
        "descheduler": "the descheduler reads it",
        "imagepolicy.k8s.io": _KUBERNETES,
        "k3d.io": "k3d reads it",
        "kind.x-k8s.io": "kind reads it",
        "kops.k8s.io": "kops reads it",
        "kpt.dev": "kpt reads it",
        "krew.googlecontainertools.github.com": "krew reads it",
        "kubeadm.k8s.io": "kubeadm reads it",
        "kubecontrollermanager.config.k8s.io": _KUBERNETES,
        "kubectl.config.k8s.io": "kubectl reads it",
        "kubelet.config.k8s.io": _KUBERNETES,
        "kubeproxy.config.k8s.io": _KUBERNETES,
        "kubescheduler.config.k8s.io": _KUBERNETES,
        "kustomize.config.k8s.io": "kustomize reads it: render it with -k",
        "pod-security.admission.config.k8s.io": _KUBERNETES,
        "podnodeselector.admission.k8s.io": _KUBERNETES,
        "release-notes": "a note of a release, for no cluster",
        "resourcequota.admission.k8s.io": _KUBERNETES,
        "skaffold": "skaffold reads it",
    }
)
"""Groups of files that no server takes, and who reads them."""

CONFIGURATION_KINDS: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        ("v1", "Config"): "a kubeconfig, which clients read",
        ("v1", "Policy"): "the scheduler read it before Kubernetes 1.23",
        ("argoproj.io/v1alpha1", "ConfigManagementPlugin"): "a plugin's sidecar reads it",
        ("gateway.envoyproxy.io/v1alpha1", "EnvoyGateway"): "Envoy Gateway reads it when it starts",
        ("kwok.x-k8s.io/v1alpha1", "KwokConfiguration"): "kwok reads it",
        ("config.kwok.x-k8s.io/v1alpha1", "KwokConfiguration"): "kwok reads it",
        ("config.kwok.x-k8s.io/v1alpha1", "KwokctlConfiguration"): "kwokctl reads it",
        ("config.trainer.kubeflow.org/v1alpha1", "Configuration"): "Kubeflow's trainer reads it",
        ("config.kubeflow.org/v1beta1", "KatibConfig"): "Katib reads it when it starts",
    }
)
"""Kinds of other groups, and of the core group, that no server takes, and who reads them."""
