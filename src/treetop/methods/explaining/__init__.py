"""How a model's suggestion is explained: accounts of margins by the methods, and what is shown of them."""
