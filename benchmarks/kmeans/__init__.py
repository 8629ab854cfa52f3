"""The study of benchmarks/results/kmeans.md: private k-means beside its peers, from the records to the centres.

    python -m benchmarks.kmeans [--only PART] [--seeds N] [--out DIR] [--quick | --full] [--peers DIR]

DIR has an environment for each peer: ``diffprivlib`` (the package), and ``google`` (dp-accounting, scikit-learn, absl-py, and a folder
``learning/clustering`` of a checkout of google/differential-privacy beside its ``bin``). What is not there is left out.
"""
