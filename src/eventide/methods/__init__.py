"""One file per method: network, losses, schedule, defaults; and the registry of methods."""

from eventide.registry import Registry

DEFAULT_METHOD = "ucl-sharp"
"""What is trained where no method is named."""

METHODS = Registry("method", plugins="eventide.methods")
METHODS.add(
    "ucl", "eventide.methods.ucl:Ucl", "UCL: uncertainty margins, learned prototypes", "ours"
)
METHODS.add(
    "ucl-ec", "eventide.methods.ucl:UclEc", "UCL-EC: uncertainty margins, class centroids", "ours"
)
METHODS.add(
    "ucl+cb",
    "eventide.methods.ucl:UclBalanced",
    "UCL with the error of rare classes weighted up",
    "ours",
)
METHODS.add(
    "ucl-ec+cb",
    "eventide.methods.ucl:UclEcBalanced",
    "UCL-EC with the error of rare classes weighted up",
    "ours",
)
METHODS.add(
    DEFAULT_METHOD,
    "eventide.methods.ucl:UclSharp",
    "UCL-EC with sharp contrast and evidence by C, in a pool of experts (the default)",
    "ours",
)

_LONG_TAIL = "eventide.methods.long_tail"
METHODS.add(
    "ce", f"{_LONG_TAIL}.cross_entropy:CrossEntropy", "cross-entropy in the same frame", "long-tail"
)
METHODS.add(
    "ce+cb",
    f"{_LONG_TAIL}.cross_entropy:CrossEntropyBalanced",
    "cross-entropy with the error of rare classes weighted up",
    "long-tail",
)
METHODS.add(
    "cb-focal",
    f"{_LONG_TAIL}.cb_focal:ClassBalancedFocal",
    "CB+Focal: class-balanced weights, focal loss",
    "long-tail",
)
METHODS.add(
    "ldam", f"{_LONG_TAIL}.ldam_drw:Ldam", "LDAM: margins by class size, nothing else", "long-tail"
)
METHODS.add(
    "ldam-drw",
    f"{_LONG_TAIL}.ldam_drw:LdamDrw",
    "LDAM-DRW: margins by class size, deferred weights",
    "long-tail",
)
METHODS.add(
    "hybrid-psc",
    f"{_LONG_TAIL}.hybrid_psc:HybridPsc",
    "Hybrid-PSC: from prototypical contrast to cross-entropy",
    "long-tail",
)
METHODS.add("bcl", f"{_LONG_TAIL}.bcl:Bcl", "BCL: balanced contrast, logit adjustment", "long-tail")
METHODS.add(
    "dro-lt",
    f"{_LONG_TAIL}.dro_lt:DroLt",
    "DRO-LT: robust distances to class centroids, three phases",
    "long-tail",
)
METHODS.add(
    "tsc",
    f"{_LONG_TAIL}.tsc:Tsc",
    "TSC: contrast drawn to evenly spread targets, three phases",
    "long-tail",
)
METHODS.add(
    "logit-adjustment",
    f"{_LONG_TAIL}.logit_adjustment:LogitAdjustment",
    "cross-entropy that knows the class sizes",
    "beyond",
)
METHODS.add(
    "proco",
    f"{_LONG_TAIL}.proco:ProCo",
    "ProCo: contrast with the distribution of each class on the sphere",
    "beyond",
)
METHODS.add(
    "tam",
    f"{_LONG_TAIL}.tam:Tam",
    "TAM: margins by how unusual the neighbours of a message are",
    "beyond",
)
METHODS.add(
    "i-edl",
    f"{_LONG_TAIL}.i_edl:IEdl",
    "I-EDL: evidence weighted by its Fisher information",
    "beyond",
)
METHODS.add(
    "ce-ensemble",
    f"{_LONG_TAIL}.ce_ensemble:CeEnsemble",
    "a deep ensemble: the mean of five cross-entropy models",
    "beyond",
)

_EVENT_DETECTION = "eventide.methods.event_detection"
METHODS.add(
    "twitter-lda",
    f"{_EVENT_DETECTION}.twitter_lda:TwitterLda",
    "TwitterLDA: one topic per message, logistic regression on topics",
    "event-detection",
)
METHODS.add(
    "word2vec",
    f"{_EVENT_DETECTION}.word2vec:Word2Vec",
    "Word2Vec: the mean of learned word vectors and a small network",
    "event-detection",
)
METHODS.add(
    "static-vectors",
    f"{_EVENT_DETECTION}.static_vectors:StaticVectors",
    "the mean of bundled static vectors and a small network",
    "event-detection",
)
METHODS.add(
    "bert",
    f"{_EVENT_DETECTION}.bert:Bert",
    "BERT: a pretrained transformer, fine-tuned",
    "event-detection",
)
METHODS.add(
    "pp-gcn",
    f"{_EVENT_DETECTION}.pp_gcn:PpGcn",
    "PP-GCN: convolution over weighed views, learned from pairs",
    "event-detection",
)
METHODS.add(
    "kpgnn",
    f"{_EVENT_DETECTION}.kpgnn:Kpgnn",
    "KPGNN: attention over the union of the views, learned from triplets",
    "event-detection",
)
METHODS.add(
    "mvgan",
    f"{_EVENT_DETECTION}.mvgan:Mvgan",
    "MVGAN, reconstructed: semantic and temporal graphs fused by hashtags",
    "event-detection",
)
METHODS.add(
    "etgnn",
    f"{_EVENT_DETECTION}.etgnn:Etgnn",
    "ETGNN: evidence and Dempster's rule without class boundaries",
    "event-detection",
)
METHODS.add(
    "etgnn-exp",
    f"{_EVENT_DETECTION}.etgnn:EtgnnExp",
    "ETGNN's objective with our evidence and light calibration",
    "event-detection",
)
METHODS.add(
    "etgnn+cb",
    f"{_EVENT_DETECTION}.etgnn:EtgnnBalanced",
    "ETGNN with the error of rare classes weighted up",
    "event-detection",
)
METHODS.add(
    "few-shot-minilm",
    f"{_EVENT_DETECTION}.few_shot_minilm:FewShotMiniLm",
    "SetFit: a sentence encoder fine-tuned on pairs, logistic regression",
    "event-detection",
)

_YARDSTICKS = "eventide.methods.baselines"
METHODS.add(
    "lr-tfidf",
    f"{_YARDSTICKS}.logistic_regression:LrTfidf",
    "logistic regression on TF-IDF of words and word pairs",
    "baseline",
)
METHODS.add(
    "lr-encoder",
    f"{_YARDSTICKS}.logistic_regression:LrEncoder",
    "logistic regression on the encoder's vectors",
    "baseline",
)
METHODS.add(
    "nearest-in-time",
    f"{_YARDSTICKS}.nearest_in_time:NearestInTime",
    "the event of the training message nearest in time, text unread",
    "baseline",
)
