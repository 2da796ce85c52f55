"""Charts of networks. Read in this order:

`cosines` (of class means, within and between classes, and of the rows of the last layer; the accuracy to expect of one
network or several; the kinds of `NetworkQuality.plot`), and `prototype_gallery` (prototypes as pictures).
"""
