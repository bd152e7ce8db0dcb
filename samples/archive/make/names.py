"""Names of people and places by language, with weights, written for this project.

A weight is how many of a thousand people of that language bear the name, roughly as in registers of the nineteenth century.
It is an estimate by hand. Only the English names have counted frequencies, in us_census_1990.tsv.
"""


def weighted(text):
    """Reads `name weight, name weight, ...`."""
    pairs = [item.strip().rsplit(" ", 1) for item in text.replace("\n", " ").split(",") if item.strip()]
    return [(name, float(weight)) for name, weight in pairs]


WELSH = {
    "male": weighted("""John 160, William 130, David 90, Thomas 90, Evan 60, Robert 55, Owen 45, Hugh 40, Griffith 35, Richard 45,
        Edward 35, Rees 20, Lewis 20, Morgan 15, Humphrey 15, Ellis 15, Rowland 12, Llewelyn 6, Ifan 3, Dafydd 4, Gruffydd 2,
        Cadwaladr 2, Meredith 3, Morris 10, Daniel 15, Benjamin 10, Samuel 9, Henry 15, James 20, Isaac 6"""),
    "female": weighted("""Mary 150, Margaret 110, Elizabeth 110, Ann 100, Jane 90, Catherine 60, Ellen 50, Sarah 45, Gwen 25,
        Lowry 12, Hannah 20, Martha 15, Eleanor 15, Grace 8, Dorothy 6, Gwenllian 4, Mair 3, Sian 2, Catrin 2, Winifred 6,
        Rachel 9, Esther 5, Susannah 5, Myfanwy 2, Rebecca 4"""),
    "surname": weighted("""Jones 140, Williams 90, Davies 70, Evans 60, Roberts 55, Thomas 50, Hughes 45, Lewis 35, Morgan 30,
        Griffiths 35, Owen 30, Edwards 25, Rees 20, Lloyd 18, Pugh 12, Price 15, Morris 18, Ellis 14, Parry 12, Powell 10,
        Jenkins 14, Phillips 15, Richards 12, Howell 6, Humphreys 9, Rowlands 9, Vaughan 6, Pritchard 9, Watkins 6, Bowen 6,
        Bevan 6, Gittins 2, Breese 1, Tudor 2, Foulkes 4, Wynne 4, Nanney 1, Cadwaladr 1, Meredith 4, Llewellyn 5"""),
    "places": weighted("""Dolgellau|Wales 120, Bala|Wales 80, Machynlleth|Wales 60, Towyn|Wales 50, Barmouth|Wales 50,
        Harlech|Wales 30, Ffestiniog|Wales 60, Corwen|Wales 30, Llangollen|Wales 30, Aberystwyth|Wales 50, Shrewsbury|England 20,
        Liverpool|England 40, Oswestry|England 20, Chester|England 15"""),
}

GERMAN = {
    "male": weighted("""Johann 130, Georg 70, Heinrich 60, Friedrich 60, Wilhelm 60, Jakob 45, Peter 45, Karl 40, Johannes 60,
        Christian 30, Adam 30, Konrad 25, Philipp 30, Ludwig 25, Michael 25, Andreas 25, Martin 20, Nikolaus 15, Matthias 15,
        Franz 25, Joseph 30, Anton 15, August 15, Hermann 12, Kaspar 8, Balthasar 5, Valentin 8, Sebastian 6, Jörg 4"""),
    "female": weighted("""Anna 100, Maria 110, Margaretha 80, Katharina 80, Elisabeth 80, Barbara 45, Magdalena 30, Dorothea 25,
        Christina 25, Sophie 20, Susanna 15, Eva 25, Wilhelmine 15, Karoline 12, Philippine 8, Gertrud 12, Ursula 8, Juliana 8,
        Apollonia 5, Kunigunde 3, Walburga 3, Theresia 8"""),
    "surname": weighted("""Müller 60, Schmidt 50, Schneider 40, Fischer 35, Weber 35, Meyer 40, Wagner 30, Becker 30, Schulz 25,
        Hoffmann 25, Schäfer 20, Koch 20, Bauer 20, Richter 15, Klein 18, Wolf 15, Schröder 12, Neumann 12, Schwarz 12,
        Zimmermann 12, Braun 12, Krüger 10, Hartmann 10, Lange 10, Werner 8, Krause 8, Lehmann 8, Köhler 8, Herrmann 8, König 8,
        Huber 10, Kaiser 6, Fuchs 6, Jung 6, Vogel 6, Friedrich 6, Keller 8, Günther 5, Frank 5, Berger 6, Winkler 4, Roth 5,
        Beck 5, Lorenz 4, Baumann 5, Albrecht 4, Schuster 4, Simon 4, Böhm 3, Kraft 3, Ziegler 3, Engel 3, Kühn 3, Pfeiffer 3,
        Seidel 2, Dietrich 2, Bock 2, Kuhn 3, Haas 3, Stein 3"""),
    "places": weighted("""Alzey|Hessen 60, Worms|Hessen 50, Mainz|Hessen 40, Bingen|Hessen 20, Oppenheim|Hessen 20,
        Speyer|Bayern 20, Landau|Bayern 20, Zürich|Schweiz 10"""),
}

FRENCH = {
    "male": weighted("Jean 120, Pierre 80, François 60, Louis 60, Joseph 50, Antoine 30, Jacques 40, Charles 30, Étienne 15, Henri 20"),
    "female": weighted("Marie 160, Jeanne 60, Anne 40, Marguerite 30, Catherine 30, Françoise 25, Louise 30, Madeleine 15, Thérèse 10"),
    "surname": weighted("""Martin 40, Bernard 25, Dubois 25, Durand 20, Moreau 20, Laurent 18, Lefebvre 15, Michel 15, Leroy 15,
        Roux 12, Fournier 10, Girard 10, Lambert 8, Rousseau 8, de la Croix 2, du Bois 2, Le Blanc 3, Gauthier 6, Chevalier 5"""),
    "places": weighted("Metz|France 30, Nancy|France 30, Strasbourg|France 40, Colmar|France 20, Paris|France 40"),
}

POLISH = {
    "male": weighted("Jan 120, Józef 70, Stanisław 60, Wojciech 50, Franciszek 50, Piotr 40, Paweł 30, Andrzej 35, Michał 35, Tomasz 25"),
    "female": weighted("Maria 100, Anna 80, Katarzyna 60, Agnieszka 50, Zofia 40, Małgorzata 30, Rozalia 25, Ewa 20, Jadwiga 15"),
    "surname": weighted("""Nowak 40, Kowalski 30, Wiśniewski 20, Wójcik 20, Kowalczyk 18, Kamiński 15, Lewandowski 15, Zieliński 12,
        Szymański 10, Woźniak 12, Dąbrowski 10, Kozłowski 8, Jankowski 8, Mazur 8, Krawczyk 6, Piotrowski 6, Grabowski 6,
        Pawłowski 5, Michalski 5, Król 5, Łuczak 3, Wróbel 4, Jabłoński 3, Olszewski 3"""),
    "places": weighted("Kraków|Galizien 40, Tarnów|Galizien 30, Posen|Preussen 30, Łódź|Russland 30, Warszawa|Russland 30"),
}

HUNGARIAN = {
    "male": weighted("István 90, János 100, József 70, György 50, Mihály 50, Ferenc 40, András 40, Sándor 20, Károly 15, Lajos 15"),
    "female": weighted("Mária 100, Erzsébet 80, Anna 80, Katalin 40, Julianna 40, Zsuzsanna 35, Borbála 20, Rozália 15, Ilona 10"),
    "surname": weighted("""Nagy 40, Kovács 35, Tóth 30, Szabó 30, Horváth 25, Varga 20, Kiss 20, Molnár 15, Németh 15, Farkas 12,
        Balogh 12, Papp 10, Takács 10, Juhász 10, Lakatos 6, Mészáros 6, Oláh 5, Szűcs 4, Fekete 5, Szilágyi 4"""),
    "places": weighted("Pest|Ungarn 40, Debrecen|Ungarn 20, Szeged|Ungarn 20, Győr|Ungarn 15, Miskolc|Ungarn 15"),
}

ENGLISH_PLACES = weighted("""London|England 60, Liverpool|England 40, Manchester|England 30, Shrewsbury|England 20, Bristol|England 20,
    Chester|England 20, Cork|Ireland 30, Dublin|Ireland 30, Glasgow|Scotland 30, Aberdeen|Scotland 10""")

TRADES = weighted("""farmer 120, labourer 150, servant 90, weaver 30, carpenter 30, tailor 25, miner 40, smith 25, miller 10, clerk 15,
    shoemaker 25, mason 20, baker 15, sailor 15, dressmaker 20, slate quarryman 30""")
